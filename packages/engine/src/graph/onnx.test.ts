import { describe, expect, it } from 'vitest';
import { loadBackend } from '../host/backend.ts';
import { OnnxGraph } from './onnx.ts';

const { ort, sessionOptions } = await loadBackend({ threads: 1 });

async function run(graph: OnnxGraph, x: number[]): Promise<unknown[]> {
  const session = await ort.InferenceSession.create(graph.build(), sessionOptions);
  const { y } = await session.run({ x: new ort.Tensor('float32', Float32Array.from(x), [x.length]) });
  await session.release();
  return Array.from(y!.data as ArrayLike<unknown>);
}

function graphOf(inputs: number, outputs: number): OnnxGraph {
  const graph = new OnnxGraph();
  graph.input('x', 'float32', [inputs]);
  graph.output('y', 'float32', [outputs]);
  return graph;
}

describe('OnnxGraph', () => {
  it('is loaded and run by ONNX Runtime, with attributes of every kind', async () => {
    const graph = graphOf(2, 4);
    graph.node('LeakyRelu', ['x'], ['leaky'], { alpha: { float: 0.5 } });
    graph.node('Concat', ['leaky', graph.constant('float32', [2], [7, 8])], ['four'], { axis: -1 });
    graph.node('Reshape', ['four', graph.constant('int64', [2], [2, 2])], ['square']);
    graph.node('Transpose', ['square'], ['turned'], { perm: [1, 0] });
    graph.node('Reshape', ['turned', graph.constant('int64', [1], [-1])], ['flat']);
    const [at, added] = [graph.constant('int32', [1], [0]), graph.constant('float32', [1], [100])];
    graph.node('ScatterElements', ['flat', at, added], ['y'], { axis: 0, reduction: 'add' });
    expect(await run(graph, [-1, 1])).toEqual([99.5, 7, 1, 8]);
  });

  it('leaves out what no output needs', async () => {
    const graph = graphOf(1, 1);
    const unused = graph.constant('float32', [1000], new Float32Array(1000));
    graph.node('Neg', ['x'], ['y']);
    graph.node('NoSuchOperator', ['y', unused], ['nothing']);
    graph.node('NoSuchOperator', ['nothing'], ['less']);
    expect(graph.build().length).toBeLessThan(400);
    expect(await run(graph, [3])).toEqual([-3]);
  });

  it('shares equal small constants and tells types and shapes apart', () => {
    const graph = new OnnxGraph();
    const one = graph.constant('int64', [1], [1]);
    expect(graph.constant('int64', [1], [1])).toBe(one);
    const others = [
      graph.constant('int32', [1], [1]),
      graph.constant('int64', [], [1]),
      graph.constant('int64', [1], [2]),
    ];
    expect(new Set([one, ...others]).size).toBe(4);
  });
});
