import type { AnswerFormats } from './formats.ts';
import type { ModelServerOptions } from './http.ts';
import type { WeightsToServe } from './served-versions.ts';
import type { Upstream } from './upstream.ts';

/** What is needed to reach a model server, whichever kind. */
export interface RemoteUpstreamOptions extends ModelServerOptions {
  /** Name of the policy whose weights it serves, or null for a frozen model. */
  policy: string | null;
  /** The model's name on the server. Default: the only one it has. */
  modelId?: string;
  /** Folder with the model's tokenizer.json and chat template. */
  tokenizer?: string;
  /** Default: `tokens` wherever the server allows it. */
  way?: 'tokens' | 'chat';
  /** What the template does not show. */
  formats?: Partial<AnswerFormats>;
}

/** An upstream whose server can be given new weights. */
export interface RemoteUpstream extends Upstream {
  /** Serves these weights to later calls; those under way finish on the old ones. Absent where the server cannot. */
  publish?(weights: WeightsToServe): Promise<void>;
}
