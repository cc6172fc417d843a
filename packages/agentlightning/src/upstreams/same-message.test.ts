import { describe, expect, it } from 'vitest';
import { sameMessage } from './same-message.ts';
import type { Message } from './upstream.ts';

const answer: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a": 1, "b": 2}' }],
};

describe('sameMessage', () => {
  it('recognises an answer whose calls a client has written anew', () => {
    const echo = { ...answer, toolCalls: [{ id: 'own', name: 'add', arguments: '{"b":2,"a":1}' }] };
    expect(sameMessage(echo, answer)).toBe(true);
  });

  it.each([
    ['role', { ...answer, role: 'user' as const }],
    ['content', { ...answer, content: ' ' }],
    ['number of calls', { role: 'assistant' as const, content: '' }],
    ['function', { ...answer, toolCalls: [{ id: 'call_1', name: 'sub', arguments: '{"a": 1, "b": 2}' }] }],
    ['arguments', { ...answer, toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a": 1, "b": 3}' }] }],
    ['broken arguments', { ...answer, toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a": 1' }] }],
  ])('tells another %s', (_, other) => {
    expect(sameMessage(other, answer)).toBe(false);
  });
});
