import type { Shape, Tape, Value } from '../graph/index.ts';
import { type LoraConfig, loraShapes, type ModelConfig, parameterShapes, valueHeadShapes } from '../model/index.ts';

interface Declaration {
  config: ModelConfig;
  lora: LoraConfig | undefined;
  /** Gradients flow: to the adapters where there are some, else to all parameters; and to the value head. */
  differentiable: boolean;
}

export function gradientOutput(parameter: string): string {
  return `gradient:${parameter}`;
}

/** The parameters that a graph reads, each declared as an input of its name when it is first asked for. */
export class GraphParameters {
  private readonly tape: Tape;
  private readonly frozen: Map<string, Shape>;
  private readonly trained: Map<string, Shape>;
  private readonly differentiable: boolean;
  private readonly values = new Map<string, Value>();

  constructor(tape: Tape, { config, lora, differentiable }: Declaration) {
    this.tape = tape;
    const learning = lora === undefined ? parameterShapes(config) : loraShapes(config, lora);
    this.trained = new Map([...learning, ...valueHeadShapes(config)]);
    this.frozen = lora === undefined ? new Map() : parameterShapes(config);
    this.differentiable = differentiable;
  }

  /** Undefined for a name that this model, with this LoRA setting, does not have. */
  get(name: string): Value | undefined {
    const known = this.values.get(name);
    const shape = this.trained.get(name) ?? this.frozen.get(name);
    if (known !== undefined || shape === undefined) return known;
    const differentiable = this.differentiable && this.trained.has(name);
    const value = this.tape.input(name, 'float32', shape, { differentiable });
    this.values.set(name, value);
    return value;
  }

  names(): string[] {
    return [...this.values.keys()];
  }

  /** Makes outputs of all gradients that the backward pass has found; returns whose they are. */
  outputGradients(outputName: (parameter: string) => string): string[] {
    return this.names().filter((name) => {
      const gradient = this.tape.gradient(this.values.get(name)!);
      if (gradient !== undefined) this.tape.output(outputName(name), gradient);
      return gradient !== undefined;
    });
  }
}
