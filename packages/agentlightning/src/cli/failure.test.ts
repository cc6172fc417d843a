import { expect, it } from 'vitest';
import { UserError } from '../errors.ts';
import { explain } from './failure.ts';

it('an own error shows message, cause and hint, and no stack', () => {
  const error = new UserError({
    code: 'port_in_use',
    message: 'Port 80 is taken.',
    hint: 'Choose another.',
    cause: new Error('EADDRINUSE'),
  });
  expect(explain(error)).toBe('agl: Port 80 is taken. [port_in_use]\n  because: EADDRINUSE\n  Choose another.\n');
});

it('a defect keeps its stack', () => expect(explain(new TypeError('x is not a function'))).toContain('failure.test'));
