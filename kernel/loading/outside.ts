/**
 * Modules that are no part of the service. The bundle of the program is a script, which Node lets import nothing by
 * itself, so it is given this (cli/program.ts).
 */

/**
 * @param url absolute
 * @throws what the module throws, and Node's errors of modules that are not there
 */
export const importOutside = (url: string): Promise<unknown> => import(url);
