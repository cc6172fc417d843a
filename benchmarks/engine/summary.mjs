const round = (value, digits = 2) => (value === undefined ? undefined : Number(value.toFixed(digits)));

/** Ratios of the bench from what its parts measured; what a missing part would have given is absent. */
export function summarise(measured) {
  const { matmul, train, train4096, sample, torch, transformers, llamacpp_f32, llamacpp_q8 } = measured;
  const metrics = {
    matmul_gigaflops: round(matmul?.gigaflops, 1),
    train_tokens_per_second: round(train?.tokensPerSecond, 1),
    train_useful_gigaflops: round(train?.usefulGigaflops, 1),
    train_peak_rss_gib: train?.peakRssGiB,
    train_4096_tokens_per_second: round(train4096?.tokensPerSecond, 1),
    train_4096_peak_rss_gib: train4096?.peakRssGiB,
    torch_train_tokens_per_second: round(torch?.tokensPerSecond, 1),
    torch_train_peak_rss_gib: torch?.peakRssGiB,
  };
  for (const [name, part] of Object.entries({ sample, transformers, llamacpp_f32, llamacpp_q8 })) {
    for (const [streams, rate] of Object.entries(part?.streams ?? {}))
      metrics[`${name}_tokens_per_second_${streams}`] = round(rate, 1);
    metrics[`${name}_first_token_ms`] = round(part?.firstTokenMs, 1);
    metrics[`${name}_peak_rss_gib`] = part?.peakRssGiB;
  }
  const ratio = (ours, theirs) => (ours === undefined || theirs === undefined ? undefined : round(ours / theirs));
  const at32 = (part) => part?.streams['32'];
  return {
    metrics,
    ratios: {
      torch: ratio(train?.tokensPerSecond, torch?.tokensPerSecond),
      matmul_peak: ratio(train?.usefulGigaflops, matmul?.gigaflops),
      transformers: ratio(at32(sample), at32(transformers)),
      llamacpp_f32: ratio(at32(sample), at32(llamacpp_f32)),
      llamacpp_q8: ratio(at32(sample), at32(llamacpp_q8)),
    },
  };
}
