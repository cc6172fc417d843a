import { createAnthropic } from '@ai-sdk/anthropic';
import { model } from './report.mjs';
import { reportWith } from './vercel.mjs';

// This one wants the version in its base URL.
const anthropic = createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` });
await reportWith(anthropic(model));
