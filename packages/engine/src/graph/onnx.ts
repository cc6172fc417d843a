import { ProtobufWriter } from './protobuf.ts';

export type Shape = readonly number[];
/** TensorProto.DataType of onnx.proto. */
const dataTypeCodes = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 } as const;
export type DataType = keyof typeof dataTypeCodes;
type TensorData = Float32Array | Uint8Array | Int8Array | Int32Array | BigInt64Array;

/** A bare number is an integer attribute; floats are marked, because ONNX types them apart. */
export type Attribute = number | string | readonly number[] | { float: number };
export type Attributes = Readonly<Record<string, Attribute>>;

/** Operators outside of the ONNX standard that ONNX Runtime brings along. */
export const microsoftDomain = 'com.microsoft';

interface GraphNode {
  type: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Attributes;
  domain: string;
}

/**
 * An ONNX model under construction: IR version 8, opset 18 and com.microsoft 1, which ONNX Runtime 1.16 and later load, native
 * and wasm alike. Message and field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
export class OnnxGraph {
  private readonly nodes: GraphNode[] = [];
  private readonly initializers = new Map<string, ProtobufWriter>();
  private readonly constantNames = new Map<string, string>();
  private readonly inputs: ProtobufWriter[] = [];
  private readonly outputs = new Map<string, ProtobufWriter>();
  private nextName = 0;

  input(name: string, type: DataType, shape: Shape): void {
    this.inputs.push(valueInfo(name, type, shape));
  }

  output(name: string, type: DataType, shape: Shape): void {
    this.outputs.set(name, valueInfo(name, type, shape));
  }

  /** A named constant tensor. `data` is referenced until `build` copies it. */
  initializer(name: string, type: DataType, shape: Shape, data: TensorData): void {
    const tensor = new ProtobufWriter();
    for (const size of shape) tensor.integer(1, size);
    tensor.integer(2, dataTypeCodes[type]).string(8, name);
    tensor.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    this.initializers.set(name, tensor);
  }

  /** An anonymous constant; equal small ones are shared. Returns its name. */
  constant(type: DataType, shape: Shape, values: ArrayLike<number>): string {
    const key = values.length <= 64 ? `${type}[${shape.join()}]${Array.from(values).join()}` : undefined;
    const known = key === undefined ? undefined : this.constantNames.get(key);
    if (known !== undefined) return known;
    const name = this.unusedName('constant');
    this.initializer(name, type, shape, typedArray(type, values));
    if (key !== undefined) this.constantNames.set(key, name);
    return name;
  }

  /** Adds a node with given output names. An empty input name stands for an absent optional input. */
  node(type: string, inputs: readonly string[], outputs: readonly string[], attributes: Attributes = {}, domain = '') {
    this.nodes.push({ type, inputs, outputs, attributes, domain });
  }

  unusedName(prefix: string): string {
    return `${prefix}_${this.nextName++}`;
  }

  /** Serialises the model; nodes and initialisers that no output needs are left out. */
  build(): Uint8Array {
    const { nodes, needed } = this.liveNodes();
    const graph = new ProtobufWriter();
    nodes.forEach((node, index) => {
      graph.message(1, nodeMessage(node, index));
    });
    graph.string(2, 'graph');
    for (const [name, tensor] of this.initializers) if (needed.has(name)) graph.message(5, tensor);
    for (const input of this.inputs) graph.message(11, input);
    for (const output of this.outputs.values()) graph.message(12, output);
    return new ProtobufWriter()
      .integer(1, 8)
      .string(2, 'agentlightning')
      .message(7, graph)
      .message(8, new ProtobufWriter().string(1, '').integer(2, 18))
      .message(8, new ProtobufWriter().string(1, microsoftDomain).integer(2, 1))
      .finish();
  }

  private liveNodes(): { nodes: GraphNode[]; needed: Set<string> } {
    const needed = new Set(this.outputs.keys());
    const nodes = this.nodes
      .toReversed() // a node stands after the nodes it reads from, so one backward pass finds all that is needed
      .filter((node) => {
        const live = node.outputs.some((output) => needed.has(output));
        if (live) for (const input of node.inputs) needed.add(input);
        return live;
      })
      .reverse();
    return { nodes, needed };
  }
}

function valueInfo(name: string, type: DataType, shape: Shape): ProtobufWriter {
  const dimensions = new ProtobufWriter();
  for (const size of shape) dimensions.message(1, new ProtobufWriter().integer(1, size));
  const tensorType = new ProtobufWriter().integer(1, dataTypeCodes[type]).message(2, dimensions);
  return new ProtobufWriter().string(1, name).message(2, new ProtobufWriter().message(1, tensorType));
}

function nodeMessage(node: GraphNode, index: number): ProtobufWriter {
  const message = new ProtobufWriter();
  for (const input of node.inputs) message.string(1, input);
  for (const output of node.outputs) message.string(2, output);
  message.string(3, `node_${index}`).string(4, node.type);
  for (const [name, value] of Object.entries(node.attributes)) message.message(5, attributeMessage(name, value));
  if (node.domain !== '') message.string(7, node.domain);
  return message;
}

function attributeMessage(name: string, value: Attribute): ProtobufWriter {
  const message = new ProtobufWriter().string(1, name);
  if (typeof value === 'number') return message.integer(3, value).integer(20, 2);
  if (typeof value === 'string') return message.string(4, value).integer(20, 3);
  if ('float' in value) return message.float(2, value.float).integer(20, 1);
  for (const entry of value) message.integer(8, entry);
  return message.integer(20, 7);
}

function typedArray(type: DataType, values: ArrayLike<number>): TensorData {
  switch (type) {
    case 'float32':
      return Float32Array.from(values);
    case 'int64':
      return BigInt64Array.from(values, BigInt);
    case 'int32':
      return Int32Array.from(values);
    case 'int8':
      return Int8Array.from(values);
    case 'uint8':
    case 'bool':
      return Uint8Array.from(values);
  }
}
