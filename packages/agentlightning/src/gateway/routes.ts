import { UserError } from '../errors.ts';
import type { Upstream } from '../upstreams/index.ts';
import type { ListedModel } from './model-lists.ts';
import { RequestError } from './request-error.ts';
import type { Session } from './session.ts';

export interface Route {
  /** What clients call the model. */
  alias: string;
  upstream: Upstream;
  /** The role of a multi-agent system that uses this alias. */
  agentName?: string;
  /** False: calls pass through and leave no record. Default true. */
  recorded?: boolean;
}

/** Model aliases and who answers them. */
export class Routes {
  readonly #routes: Map<string, Route>;
  readonly #fallback: Route;

  /** @param fallback alias of the route that answers an attempt's calls for models that are not here */
  constructor(routes: Route[], fallback: string) {
    this.#routes = new Map(routes.map((route) => [route.alias, route]));
    const found = this.#routes.get(fallback);
    if (found === undefined || this.#routes.size < routes.length) {
      throw new UserError({
        code: found === undefined ? 'unknown_model' : 'duplicate_model',
        message:
          found === undefined
            ? `The default model "${fallback}" has no route.`
            : 'Two routes answer the same model name.',
        hint: `Routes: ${routes.map((route) => route.alias).join(', ')}.`,
      });
    }
    this.#fallback = found;
  }

  /** Agents hard-code model names, so an attempt's unknown name gets the default route; anybody else is told what there is. */
  resolve(model: string, mode: Session['mode']): Route {
    const route = this.#routes.get(model);
    if (route !== undefined) return route;
    if (mode !== 'serve') return this.#fallback;
    throw this.#notFound(model);
  }

  models(): ListedModel[] {
    return [...this.#routes.values()].map(listed);
  }

  /** @throws {RequestError} `model_not_found` */
  model(alias: string): ListedModel {
    const route = this.#routes.get(alias);
    if (route === undefined) throw this.#notFound(alias);
    return listed(route);
  }

  /** An attempt has ended: no upstream needs to keep its conversations. */
  forget(attemptId: string): void {
    for (const { upstream } of this.#routes.values()) upstream.forget(attemptId);
  }

  /** Which models cannot be answered now, and why. */
  async obstacles(): Promise<string[]> {
    const found = await Promise.all(
      [...this.#routes.values()].map(async ({ alias, upstream }) => {
        const obstacle = (await upstream.obstacle?.()) ?? null;
        return obstacle === null ? null : `${alias}: ${obstacle}`;
      }),
    );
    return found.filter((obstacle) => obstacle !== null);
  }

  #notFound(model: string): RequestError {
    return new RequestError({
      code: 'model_not_found',
      status: 404,
      field: 'model',
      message: `There is no model "${model}" here. Models: ${[...this.#routes.keys()].join(', ')}.`,
    });
  }
}

function listed({ alias, upstream }: Route): ListedModel {
  return { alias, ownedBy: upstream.policy === null ? upstream.name : 'agentlightning' };
}
