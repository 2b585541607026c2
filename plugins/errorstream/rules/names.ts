/** Fixed ids of the ignore rules' documents. */

/** The revision that every change of a rule raises. */
export const BOOK_ID = 'rules';
/** The template's, in the shape of the UUIDv7 of the first of January 2025: a migration that runs twice makes one. */
export const TEMPLATE_ID = '01941f29-7c00-7000-8000-000000000001';
