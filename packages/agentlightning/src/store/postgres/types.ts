import pg from 'pg';

const int8 = 20;

/** Whole numbers of 64 bits as numbers: none of the store's comes near 2^53. */
export const parsers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
};
