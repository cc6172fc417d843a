/** A row-major matrix and, beside it, the gradient of the loss with respect to it. */
export class Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
  readonly gradient: Float64Array;

  constructor(rows: number, columns: number, data: ArrayLike<number> = new Float64Array(rows * columns)) {
    this.rows = rows;
    this.columns = columns;
    this.data = Float64Array.from(data);
    this.gradient = new Float64Array(rows * columns);
  }
}

/** Loops over scalars in float64, with every derivative written by hand: slow, and plain enough to be believed. */
export class Float64Tape {
  private readonly steps: (() => void)[] = [];

  backward(): void {
    for (const step of this.steps.toReversed()) step();
  }

  matmul(x: Matrix, weight: Matrix): Matrix {
    const y = new Matrix(x.rows, weight.columns);
    const each = (visit: (i: number, j: number, k: number) => void) => {
      for (let i = 0; i < x.rows; i++) {
        for (let j = 0; j < weight.columns; j++) for (let k = 0; k < x.columns; k++) visit(i, j, k);
      }
    };
    const [n, inner] = [weight.columns, x.columns];
    each((i, j, k) => {
      y.data[i * n + j]! += x.data[i * inner + k]! * weight.data[k * n + j]!;
    });
    this.steps.push(() =>
      each((i, j, k) => {
        const g = y.gradient[i * n + j]!;
        x.gradient[i * inner + k]! += g * weight.data[k * n + j]!;
        weight.gradient[k * n + j]! += g * x.data[i * inner + k]!;
      }),
    );
    return y;
  }

  transpose(x: Matrix): Matrix {
    const y = new Matrix(x.columns, x.rows);
    const each = (visit: (from: number, to: number) => void) => {
      for (let i = 0; i < x.rows; i++) for (let j = 0; j < x.columns; j++) visit(i * x.columns + j, j * x.rows + i);
    };
    each((from, to) => {
      y.data[to] = x.data[from]!;
    });
    this.steps.push(() =>
      each((from, to) => {
        x.gradient[from]! += y.gradient[to]!;
      }),
    );
    return y;
  }

  add(a: Matrix, b: Matrix): Matrix {
    const y = new Matrix(
      a.rows,
      a.columns,
      a.data.map((value, i) => value + b.data[i]!),
    );
    this.steps.push(() =>
      y.gradient.forEach((g, i) => {
        a.gradient[i]! += g;
        b.gradient[i]! += g;
      }),
    );
    return y;
  }

  scale(x: Matrix, factor: number): Matrix {
    const y = new Matrix(
      x.rows,
      x.columns,
      x.data.map((value) => value * factor),
    );
    this.steps.push(() =>
      y.gradient.forEach((g, i) => {
        x.gradient[i]! += g * factor;
      }),
    );
    return y;
  }

  /** x, whose gradient is multiplied by `factor` on its way back. */
  scaleGradient(x: Matrix, factor: number): Matrix {
    const y = new Matrix(x.rows, x.columns, x.data);
    this.steps.push(() =>
      y.gradient.forEach((g, i) => {
        x.gradient[i]! += g * factor;
      }),
    );
    return y;
  }

  lookup(table: Matrix, ids: ArrayLike<number>): Matrix {
    const width = table.columns;
    const y = new Matrix(ids.length, width);
    for (let i = 0; i < ids.length; i++)
      y.data.set(table.data.subarray(ids[i]! * width, (ids[i]! + 1) * width), i * width);
    this.steps.push(() => {
      for (let i = 0; i < ids.length; i++) {
        for (let j = 0; j < width; j++) table.gradient[ids[i]! * width + j]! += y.gradient[i * width + j]!;
      }
    });
    return y;
  }

  rmsNorm(x: Matrix, weight: Matrix, eps: number): Matrix {
    const width = x.columns;
    const y = new Matrix(x.rows, width);
    const inverse = new Float64Array(x.rows);
    for (let i = 0; i < x.rows; i++) {
      let squares = 0;
      for (let j = 0; j < width; j++) squares += x.data[i * width + j]! ** 2;
      inverse[i] = 1 / Math.sqrt(squares / width + eps);
      for (let j = 0; j < width; j++) y.data[i * width + j] = x.data[i * width + j]! * inverse[i]! * weight.data[j]!;
    }
    this.steps.push(() => {
      for (let i = 0; i < x.rows; i++) {
        let projection = 0;
        for (let j = 0; j < width; j++) {
          const at = i * width + j;
          weight.gradient[j]! += y.gradient[at]! * x.data[at]! * inverse[i]!;
          projection += y.gradient[at]! * weight.data[j]! * x.data[at]!;
        }
        for (let j = 0; j < width; j++) {
          const at = i * width + j;
          const radial = (x.data[at]! * inverse[i]! ** 3 * projection) / width;
          x.gradient[at]! += y.gradient[at]! * weight.data[j]! * inverse[i]! - radial;
        }
      }
    });
    return y;
  }

  /** silu(gate) · up */
  swiglu(gate: Matrix, up: Matrix): Matrix {
    const sigmoid = gate.data.map((value) => 1 / (1 + Math.exp(-value)));
    const y = new Matrix(
      gate.rows,
      gate.columns,
      gate.data.map((value, i) => value * sigmoid[i]! * up.data[i]!),
    );
    this.steps.push(() =>
      y.gradient.forEach((g, i) => {
        const value = gate.data[i]!;
        gate.gradient[i]! += g * up.data[i]! * sigmoid[i]! * (1 + value * (1 - sigmoid[i]!));
        up.gradient[i]! += g * value * sigmoid[i]!;
      }),
    );
    return y;
  }

  /** Turns each head's halves by position · theta^(−2i / headSize); row t is position t. */
  rope(x: Matrix, headSize: number, theta: number): Matrix {
    const y = new Matrix(x.rows, x.columns);
    const turn = (from: Float64Array, to: Float64Array, direction: 1 | -1) => {
      for (let t = 0; t < x.rows; t++) {
        for (let head = 0; head < x.columns; head += headSize) {
          for (let i = 0; i < headSize / 2; i++) {
            const angle = direction * t * theta ** ((-2 * i) / headSize);
            const a = t * x.columns + head + i;
            const b = a + headSize / 2;
            to[a]! += from[a]! * Math.cos(angle) - from[b]! * Math.sin(angle);
            to[b]! += from[b]! * Math.cos(angle) + from[a]! * Math.sin(angle);
          }
        }
      }
    };
    turn(x.data, y.data, 1);
    this.steps.push(() => turn(y.gradient, x.gradient, -1));
    return y;
  }

  /** Causal attention of one sequence; query head h reads key head ⌊h / group⌋. */
  attention(q: Matrix, k: Matrix, v: Matrix, heads: number, kvHeads: number): Matrix {
    const size = q.columns / heads;
    const y = new Matrix(q.rows, q.columns);
    for (let head = 0; head < heads; head++) {
      const qAt = (t: number, e: number) => t * q.columns + head * size + e;
      const kAt = (t: number, e: number) => t * k.columns + Math.floor(head / (heads / kvHeads)) * size + e;
      const weights: Float64Array[] = [];
      for (let t = 0; t < q.rows; t++) {
        const scores = Float64Array.from({ length: t + 1 }, (_, s) => {
          let dot = 0;
          for (let e = 0; e < size; e++) dot += q.data[qAt(t, e)]! * k.data[kAt(s, e)]!;
          return dot / Math.sqrt(size);
        });
        const top = Math.max(...scores);
        const exponentials = scores.map((score) => Math.exp(score - top));
        const sum = exponentials.reduce((total, value) => total + value, 0);
        const row = exponentials.map((value) => value / sum);
        weights.push(row);
        row.forEach((weight, s) => {
          for (let e = 0; e < size; e++) y.data[qAt(t, e)]! += weight * v.data[kAt(s, e)]!;
        });
      }
      this.steps.push(() => {
        weights.forEach((row, t) => {
          const slopes = row.map((weight, s) => {
            let dot = 0;
            for (let e = 0; e < size; e++) {
              const g = y.gradient[qAt(t, e)]!;
              dot += g * v.data[kAt(s, e)]!;
              v.gradient[kAt(s, e)]! += weight * g;
            }
            return dot;
          });
          const mean = row.reduce((total, weight, s) => total + weight * slopes[s]!, 0);
          row.forEach((weight, s) => {
            const g = (weight * (slopes[s]! - mean)) / Math.sqrt(size);
            for (let e = 0; e < size; e++) {
              q.gradient[qAt(t, e)]! += g * k.data[kAt(s, e)]!;
              k.gradient[kAt(s, e)]! += g * q.data[qAt(t, e)]!;
            }
          });
        });
      });
    }
    return y;
  }

  /** ln softmax(logits)[target] of each row. `slope(t)` is ∂C/∂logp of row t, asked for in the backward pass. */
  logProbs(logits: Matrix, targets: ArrayLike<number>, slope: (row: number) => number): Float64Array {
    const width = logits.columns;
    const normalisers = Float64Array.from({ length: logits.rows }, (_, t) => {
      const row = logits.data.subarray(t * width, (t + 1) * width);
      const top = Math.max(...row);
      return top + Math.log(row.reduce((sum, value) => sum + Math.exp(value - top), 0));
    });
    this.steps.push(() => {
      normalisers.forEach((normaliser, t) => {
        const g = slope(t);
        for (let j = 0; j < width; j++) {
          const probability = Math.exp(logits.data[t * width + j]! - normaliser);
          logits.gradient[t * width + j]! += g * ((j === targets[t] ? 1 : 0) - probability);
        }
      });
    });
    return normalisers.map((normaliser, t) => logits.data[t * width + targets[t]!]! - normaliser);
  }
}
