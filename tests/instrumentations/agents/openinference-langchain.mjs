// @arizeai/openinference-instrumentation-langchain on two agents of LangChain.js. With AGL_TEST_BOTH the OpenAI client below is
// instrumented as well, so that each call is seen twice.
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import * as callbacks from '@langchain/core/callbacks/manager';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import OpenAI from 'openai';
import { z } from 'zod';
import { provider, shutdown } from './telemetry.mjs';

new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks);
if (process.env.AGL_TEST_BOTH) new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI);

const model = new ChatOpenAI({ model: process.env.AGL_MODEL });
const lookup = tool(async ({ city }) => JSON.stringify({ city, inhabitants: 2_100_000 }), {
  name: 'lookup',
  description: 'Number of inhabitants of a city',
  schema: z.object({ city: z.string() }),
});
const researcher = createAgent({ model, tools: [lookup], systemPrompt: 'You are the researcher.', name: 'researcher' });
const writer = createAgent({ model, tools: [], systemPrompt: 'You are the writer.', name: 'writer' });

const asked = await researcher.invoke({ messages: [{ role: 'user', content: 'How many people live in Paris?' }] });
await writer.invoke({ messages: [{ role: 'user', content: asked.messages.at(-1).content }] });
await shutdown();
