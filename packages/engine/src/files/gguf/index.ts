/** Files of llama.cpp: read as if they were model folders, and written. Must not know graphs, training or workers. */
export { openGgufCheckpoint } from './checkpoint.ts';
export { ggufFolder, pointerName } from './folder.ts';
