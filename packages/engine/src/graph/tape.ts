import { type Attributes, type DataType, OnnxGraph, type Shape } from './onnx.ts';

/** A tensor of the graph: its name there, and its static shape. */
export interface Value {
  readonly name: string;
  readonly shape: Shape;
}

interface EmitOptions {
  attributes?: Attributes;
  domain?: string;
}

interface Recorded {
  output: Value;
  backward: (gradient: Value) => void;
}

/**
 * Reverse-mode differentiation that writes ONNX nodes instead of computing: an operation emits its forward nodes and records how
 * to emit its vector-Jacobian product; `backward` then emits those in reverse order. Shapes are static.
 */
export class Tape {
  readonly graph = new OnnxGraph();
  /** Writes no FusedMatMul and no LogSoftmax, which the WebGPU backend would send back to the CPU. */
  readonly portable: boolean;
  private readonly recorded: Recorded[] = [];
  private readonly differentiable = new Set<string>();
  private readonly gradients = new Map<string, Value>();

  constructor(options: { portable?: boolean } = {}) {
    this.portable = options.portable ?? false;
  }

  input(name: string, type: DataType, shape: Shape, options: { differentiable?: boolean } = {}): Value {
    this.graph.input(name, type, shape);
    const value = { name, shape };
    if (options.differentiable === true) this.watch(value);
    return value;
  }

  /** Names `value` as an output of the graph. */
  output(name: string, value: Value, type: DataType = 'float32'): void {
    this.graph.node('Identity', [value.name], [name]);
    this.graph.output(name, type, value.shape);
  }

  constant(type: DataType, shape: Shape, values: ArrayLike<number>): Value {
    return { name: this.graph.constant(type, shape, values), shape };
  }

  scalar(value: number): Value {
    return this.constant('float32', [], [value]);
  }

  /** An int64 vector, as ONNX wants shapes, axes and bounds. */
  int64(values: readonly number[]): Value {
    return this.constant('int64', [values.length], values);
  }

  /** Emits one node without recording a derivative. */
  emit(type: string, inputs: readonly Value[], shape: Shape, options: EmitOptions = {}): Value {
    return this.emitMany(type, inputs, [shape], options)[0]!;
  }

  /** Emits one node with several outputs, without recording a derivative. */
  emitMany(type: string, inputs: readonly Value[], shapes: readonly Shape[], options: EmitOptions = {}): Value[] {
    const outputs = shapes.map((shape) => ({ name: this.graph.unusedName(type), shape }));
    this.graph.node(type, names(inputs), names(outputs), options.attributes, options.domain);
    return outputs;
  }

  /** Makes gradients flow to `value`. */
  watch(value: Value): void {
    this.differentiable.add(value.name);
  }

  needsGradient(value: Value): boolean {
    return this.differentiable.has(value.name);
  }

  /** `backward` receives dC/d`output` and adds to the gradients of those inputs that need one. */
  record(output: Value, inputs: readonly Value[], backward: (gradient: Value) => void): Value {
    if (inputs.some((input) => this.needsGradient(input))) {
      this.watch(output);
      this.recorded.push({ output, backward });
    }
    return output;
  }

  /** Adds to dC/d`value`; nothing is emitted for a value that needs none, so `gradient` may be given lazily. */
  accumulate(value: Value, gradient: () => Value): void {
    if (!this.needsGradient(value)) return;
    const sum = this.gradients.get(value.name);
    const added = gradient();
    this.gradients.set(value.name, sum === undefined ? added : this.emit('Add', [sum, added], value.shape));
  }

  gradient(value: Value): Value | undefined {
    return this.gradients.get(value.name);
  }

  /** Emits the backward pass from the gradients accumulated so far. */
  backward(): void {
    for (const { output, backward } of this.recorded.toReversed()) {
      const gradient = this.gradient(output);
      if (gradient !== undefined) backward(gradient);
    }
  }
}

function names(values: readonly Value[]): string[] {
  return values.map((value) => value.name);
}
