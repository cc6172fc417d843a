import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Every fenced block of TypeScript or JavaScript in the README and in docs/, with the line it begins at. */
function snippets(): { place: string; language: string; code: string }[] {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];
  return pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      return [...text.matchAll(/```(ts|js)\n([\s\S]*?)```/g)].map((match) => ({
        place: `${page.replaceAll('/', '-')}-${text.slice(0, match.index).split('\n').length}`,
        language: match[1]!,
        code: match[2]!,
      }));
    });
}

it('every snippet of the documentation compiles against the packages as they are', () => {
  // Inside of the workspace, so that imports resolve as they do for a user.
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'docs-snippets-'));
  const found = snippets();
  expect(found.length).toBeGreaterThanOrEqual(5);
  for (const { place, language, code } of found) writeFileSync(join(folder, `${place}.m${language}`), code);
  const options = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    noEmit: true,
    allowJs: true,
    skipLibCheck: true,
    types: ['node'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*'] }));
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
  rmSync(folder, { recursive: true });
}, 60_000);
