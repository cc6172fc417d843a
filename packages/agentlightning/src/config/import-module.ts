import { createJiti } from 'jiti';
import { ConfigError } from './errors.ts';

/**
 * Runs a file of the user's, TypeScript or JavaScript, and gives its exports.
 * @param packages what imports by these names get, even where no such package is installed beside the file
 * @throws {ConfigError} `config_unreadable`
 */
export async function importModule(
  file: string,
  packages: Record<string, Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    fsCache: false,
    interopDefault: false,
    virtualModules: packages,
  });
  try {
    return await jiti.import<Record<string, unknown>>(file);
  } catch (cause) {
    throw new ConfigError({
      code: 'config_unreadable',
      message: `${file} cannot be run: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'Mend the error in the file; it is ordinary JavaScript or TypeScript.',
      cause,
    });
  }
}
