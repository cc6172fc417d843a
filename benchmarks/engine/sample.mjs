// Sampling: tokens per second by the number of streams, and the time to the first token of a long prompt.
import { ids, median, openEngine, report, setting } from './setting.mjs';

const [promptTokens, newTokens] = setting.quick ? [32, 8] : [128, 64];
const engine = await openEngine({ lora: undefined, slots: 64 });
const request = { temperature: 1, topP: 1, topK: 0, stopIds: [], stop: [] };
const result = { streams: {} };
for (const streams of [1, 8, 32, 64]) {
  const times = [];
  for (let round = 0; round < (setting.quick ? 2 : 4); round++) {
    const start = performance.now();
    await Promise.all(
      Array.from({ length: streams }, (_, stream) =>
        engine.sample({
          ...request,
          promptIds: ids(promptTokens, 1000 * round + stream),
          maxTokens: newTokens,
          seed: stream,
        }),
      ),
    );
    if (round > 0) times.push((performance.now() - start) / 1000);
  }
  result.streams[streams] = (streams * newTokens) / median(times);
}
const first = [];
for (let round = 0; round < (setting.quick ? 2 : 6); round++) {
  const start = performance.now();
  await engine.sample({ ...request, promptIds: ids(512, 77_000 + round), maxTokens: 1, seed: 1 });
  if (round > 0) first.push(performance.now() - start);
}
result.firstTokenMs = median(first);
await engine.close();
report(result);
