/** The steps from an empty file to the present schema. They must not know the driver: a step is SQL text. */

import type { Migration } from '../../sql/index.ts';
import { initial } from './001-initial.ts';
import { spans } from './002-spans.ts';
import { controlPlane } from './003-control-plane.ts';
import { rareRows } from './004-rare-rows.ts';

/** In order. A released migration is never changed; a change of the schema is a new file. */
export const migrations: readonly Migration[] = [initial, spans, controlPlane, rareRows];
