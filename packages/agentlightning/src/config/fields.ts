import { z } from 'zod';

/** The kinds of value that many fields of the configuration have. */
export const text = z.string().min(1);
export const count = z.int().min(1);
export const seconds = z.number().positive();
/** A text goes through the shell, a list is run as it is. */
export const command = z.union([text, z.array(text).min(1)]);
