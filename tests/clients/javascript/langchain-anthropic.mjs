import { ChatAnthropic } from '@langchain/anthropic';
import { reportWith } from './langchain.mjs';
import { model } from './report.mjs';

await reportWith(new ChatAnthropic({ model, maxTokens: 400 }));
