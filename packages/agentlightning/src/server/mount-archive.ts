import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ArchiveDatabase, archiveFormats, exportArchive } from '../store/archive/index.ts';
import { archivePath } from '../store/http/archive.ts';
import { StoreRequestError } from '../store/http/wire-errors.ts';

export interface MountedArchive {
  /** The tables beside the store, for reading. Undefined: this server gives no archives. */
  openTables: (() => Promise<ArchiveDatabase>) | undefined;
  /** @throws when the request's key is no admin's */
  require: (request: FastifyRequest) => void;
}

/**
 * Mounts `GET /agl/v1/archive`: everything of the store at one moment, as JSON lines. It is a file here before its first byte leaves, so
 * that a failure is an answer, and a slow reader holds nothing in the database.
 */
export function mountArchive(api: FastifyInstance, { openTables, require }: MountedArchive): void {
  const onRequest = async (request: FastifyRequest) => require(request);
  api.get(archivePath, { onRequest }, async (_, reply) => {
    if (openTables === undefined) {
      throw new StoreRequestError({ code: 'no_archives', status: 404, message: 'This server gives no archives.' });
    }
    const folder = await mkdtemp(join(tmpdir(), 'agl-archive-'));
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    const path = join(folder, 'archive.jsonl');
    try {
      const tables = await openTables();
      try {
        await exportArchive(tables, { path, format: archiveFormats.find(({ name }) => name === 'jsonl')! });
      } finally {
        await tables.close();
      }
    } catch (error) {
      await remove();
      throw error;
    }
    const file = createReadStream(path);
    file.once('close', () => void remove());
    return reply.type('application/jsonl').send(file);
  });
}
