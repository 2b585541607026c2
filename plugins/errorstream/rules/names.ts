/** Fixed ids of the ignore rules' documents. */

/** The revision that every change of a rule raises. */
export const BOOK_ID = 'rules';
/**
 * The id of the template, shaped like a UUIDv7 of 1 January 2025. It is fixed, so a migration that runs twice makes one
 * rule.
 */
export const TEMPLATE_ID = '01941f29-7c00-7000-8000-000000000001';
