import type { TrainRow } from '../contract.ts';
import { EngineError } from '../errors.ts';
import type { Purpose } from './purpose.ts';

interface RowLimits {
  maxTokens: number;
  vocabularySize: number;
}

/** @throws {EngineError} naming the row, before anything is computed */
export function assertRows(rows: readonly TrainRow[], purpose: Purpose, limits: RowLimits): void {
  rows.forEach((row, index) => {
    assertTokens(row.tokenIds, index, limits);
    if (purpose === 'forward' || purpose === 'values') return;
    assertColumn(row, index, 'weights');
    if (purpose === 'actor_critic') assertColumn(row, index, 'valueSlopes');
    if (purpose !== 'clipped_policy_gradient') return;
    assertColumn(row, index, 'advantages');
    assertColumn(row, index, 'logProbs');
  });
}

function assertTokens(tokenIds: Int32Array, index: number, limits: RowLimits): void {
  if (tokenIds.length > limits.maxTokens) {
    throw new EngineError({
      code: 'row_too_long',
      message: `Row ${index} has ${tokenIds.length} tokens, but the model takes at most ${limits.maxTokens}.`,
      hint: 'Shorten the prompt or the answer, or use a model with a longer context (maxTokens).',
      category: 'user',
    });
  }
  const position = tokenIds.findIndex((id) => id < 0 || id >= limits.vocabularySize);
  if (position === -1) return;
  throw new EngineError({
    code: 'token_out_of_range',
    message: `Row ${index} has token id ${tokenIds[position]} at position ${position}, but the vocabulary ends at ${limits.vocabularySize - 1}.`,
    hint: 'The row was made with the tokenizer of another model.',
    category: 'user',
  });
}

function assertColumn(
  row: TrainRow,
  index: number,
  field: 'weights' | 'advantages' | 'logProbs' | 'valueSlopes',
): void {
  const column = row[field];
  if (column === undefined || column.length !== row.tokenIds.length) {
    throw invalid(
      index,
      column === undefined
        ? `has no ${field}, which this loss needs.`
        : `has ${row.tokenIds.length} tokens, but ${column.length} ${field}.`,
    );
  }
  if (field === 'weights' || field === 'valueSlopes') assertFirstIsZero(column, index, field);
}

function assertFirstIsZero(column: Float32Array, index: number, field: 'weights' | 'valueSlopes'): void {
  if (column.length === 0 || column[0] === 0) return;
  const does = field === 'weights' ? 'weighs its first token with' : 'gives its first token the value slope';
  throw invalid(index, `${does} ${column[0]}, but nothing predicts it: entry 0 must be 0.`);
}

function invalid(index: number, problem: string): EngineError {
  return new EngineError({
    code: 'row_invalid',
    message: `Row ${index} ${problem}`,
    hint: 'All arrays of a row have one entry for each of its tokens.',
  });
}
