import { openai } from '@ai-sdk/openai';
import { model } from './report.mjs';
import { reportWith } from './vercel.mjs';

await reportWith(openai(model));
