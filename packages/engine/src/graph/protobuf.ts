const utf8 = new TextEncoder();

/**
 * Writes the protobuf wire format (https://protobuf.dev/programming-guides/encoding/): fields in call order.
 * Large byte fields are kept by reference until `finish`, so weights are copied once.
 */
export class ProtobufWriter {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  /** Field of type int32, int64, enum or bool; a negative number takes the ten bytes of its two's complement. */
  integer(field: number, value: number): this {
    this.tag(field, 0);
    this.varint(value);
    return this;
  }

  float(field: number, value: number): this {
    this.tag(field, 5);
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.append(bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.tag(field, 2);
    this.varint(value.length);
    this.append(value);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, utf8.encode(value));
  }

  message(field: number, value: ProtobufWriter): this {
    this.tag(field, 2);
    this.varint(value.length);
    for (const chunk of value.chunks) this.append(chunk);
    return this;
  }

  finish(): Uint8Array {
    const result = new Uint8Array(this.length);
    let offset = 0;
    for (const chunk of this.chunks) {
      result.set(chunk, offset);
      offset += chunk.length;
    }
    return result;
  }

  private tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  private varint(value: number): void {
    const bytes: number[] = [];
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
      bytes.push(Number(rest));
    } else {
      let rest = value;
      for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
      bytes.push(rest);
    }
    this.append(Uint8Array.from(bytes));
  }

  private append(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
  }
}
