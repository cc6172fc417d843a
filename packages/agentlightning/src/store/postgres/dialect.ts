import { PostgresDialect, PostgresQueryCompiler, type QueryCompiler } from 'kysely';
import { assertStorable } from '../sql/index.ts';

/** Kysely's own, which refuses text that would come back changed. */
export class Dialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new Compiler();
  }
}

class Compiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    assertStorable([parameter]);
    super.addParameter(parameter);
  }
}
