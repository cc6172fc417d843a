/** Where a parser tells what it found. */
export interface ToolCallSink {
  text(text: string): void;
  /** `argumentsText` is JSON text as the model wrote it. */
  call(name: string, argumentsText: string): void;
}

/** Finds a model's tool calls in its text as it arrives. The outcome does not depend on how the text is cut into pieces. */
export interface ToolCallParser {
  push(text: string, sink: ToolCallSink): void;
  end(sink: ToolCallSink): void;
}
