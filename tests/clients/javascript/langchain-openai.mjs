import { ChatOpenAI } from '@langchain/openai';
import { reportWith } from './langchain.mjs';
import { model } from './report.mjs';

await reportWith(new ChatOpenAI({ model }));
