import { type GroupBaseline, groupBaseline } from './advantages.ts';
import { bounded } from './moments.ts';

/** Values of one kind by group, and what there is to compare with. Filled first, then asked. */
export class Population {
  readonly #groups = new Map<string, number[]>();
  readonly #baselines = new Map<string, GroupBaseline>();
  #whole: { batch: GroupBaseline; centred: GroupBaseline } | null = null;

  /** Names a group, which may stay empty. */
  open(group: string): number[] {
    const values = this.#groups.get(group) ?? [];
    this.#groups.set(group, values);
    return values;
  }

  add(group: string, value: number): void {
    this.open(group).push(value);
  }

  groups(): [string, GroupBaseline][] {
    return [...this.#groups.keys()].map((group) => [group, this.#baseline(group)]);
  }

  compare(group: string): { group: GroupBaseline; batch: GroupBaseline; centred: GroupBaseline } {
    this.#whole ??= {
      batch: groupBaseline([...this.#groups.values()].flat()),
      centred: groupBaseline(
        [...this.#groups].flatMap(([name, values]) => {
          const { mean, zeroVariance } = this.#baseline(name);
          return values.map((value) => (zeroVariance ? 0 : bounded(value) - mean));
        }),
      ),
    };
    return { group: this.#baseline(group), ...this.#whole };
  }

  #baseline(group: string): GroupBaseline {
    const known = this.#baselines.get(group) ?? groupBaseline(this.open(group));
    this.#baselines.set(group, known);
    return known;
  }
}
