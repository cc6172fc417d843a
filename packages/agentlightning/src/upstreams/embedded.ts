import type { Engine, SampleResult } from '../engines/engine.ts';
import type { TokenPiece } from './token-server.ts';
import { createTokensUpstream, type TokensWayOptions } from './tokens-way.ts';
import type { Upstream } from './upstream.ts';
import { UpstreamError } from './upstream-error.ts';

export interface EmbeddedUpstreamOptions
  extends Pick<
    TokensWayOptions,
    'name' | 'policy' | 'modelId' | 'tokenizer' | 'template' | 'endOfTurnId' | 'stopIds' | 'createDecoder' | 'formats'
  > {
  engine: Pick<Engine, 'info' | 'sample'>;
}

/** Answers from an engine in this process, the tokens way. */
export function createEmbeddedUpstream({ engine, ...options }: EmbeddedUpstreamOptions): Upstream {
  return createTokensUpstream({
    ...options,
    contextTokens: () => engine.info().maxTokens,
    vocabularySize: () => engine.info().vocabularySize,
    failure: engineFailure,
    server: {
      async sample({ promptIds, maxTokens, sampling, seed, stopIds, stream, signal }, tell) {
        let told = 0;
        const result = await engine.sample(
          { promptIds, maxTokens, ...sampling, stopIds, seed },
          {
            signal,
            // Nobody waits for single tokens of an answer that is sent whole.
            ...(stream && {
              onTokens: (tokens) => {
                told += tokens.ids.length;
                tell(tokens);
              },
            }),
          },
        );
        for (const piece of untold(result, told)) tell(piece);
        if (result.finishReason === 'cancelled') throw signal.reason;
        return result.finishReason;
      },
    },
  });
}

/** The tokens of a result after the first `told`, cut where the policy version changes. */
function untold({ tokenIds, logProbs, policyVersions }: SampleResult, told: number): TokenPiece[] {
  if (told >= tokenIds.length) return [];
  const cuts = policyVersions.map(({ from }) => from).filter((from) => from > told);
  return [told, ...cuts].map((start, index) => {
    const end = cuts[index];
    return {
      ids: Array.from(tokenIds.subarray(start, end)),
      logProbs: Array.from(logProbs.subarray(start, end)),
      policyVersion: policyVersions.findLast(({ from }) => from <= start)?.version ?? null,
    };
  });
}

function engineFailure(error: unknown): UpstreamError {
  return new UpstreamError({
    code: 'engine_failed',
    category: 'system',
    status: 500,
    message: `The engine failed while answering: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}
