import type { ToolDefinition } from '../upstream.ts';

/** Where a parser tells what it found, in the order of the text. */
export interface ToolCallSink {
  text(text: string): void;
  /** A whole call; `argumentsText` is JSON text as the model wrote it. */
  call(name: string, argumentsText: string): void;
  /** A call whose arguments follow piece by piece, until `endCall`. */
  beginCall(name: string): void;
  callArguments(text: string): void;
  endCall(): void;
}

/** Finds a model's tool calls in its text as it arrives. The outcome does not depend on how the text is cut into pieces. */
export interface ToolCallParser {
  push(text: string, sink: ToolCallSink): void;
  end(sink: ToolCallSink): void;
}

export interface ToolCallParserOptions {
  /** What the turn offers; some forms need the types of parameters. */
  tools: readonly ToolDefinition[];
  /**
   * Tell a call's arguments as they come. Then a call that breaks off or is malformed behind its name stays a call, with
   * its arguments as they were written; otherwise such a call is text.
   */
  incremental: boolean;
}

/** One way in which models write tool calls. */
export interface ToolCallFormat {
  name: string;
  /** True when the chat template shows the model this form. */
  writtenBy(template: string): boolean;
  /** Special tokens that belong to the form: they stay in the text that is parsed. */
  markers: readonly string[];
  createParser(options: ToolCallParserOptions): ToolCallParser;
}
