import type { BasicGuard } from './basic.js';

/**
 * Permitted callers; in an array, any rule suffices.
 * - `'public'`: no credential; a given one is ignored (contract 00, envelope);
 * - `{scope}`, `{anyScope}`: tokens with the scope (`…:manage` implies `…:read`); setup tokens only
 *   by `setup:install`;
 * - `{intake: true}`: also a project's public intake key, in addition to a scope;
 * - `{anyToken: true}`: all tokens but setup tokens and intake keys;
 * - `{sharedKey: true}`: the shared key (contract 10, shared key);
 * - `{session: role}`: signed-in accounts; `member` includes administrators. For pages and routes
 *   below `/api/admin/`;
 * - `{basic: guard}`: HTTP Basic, checked by the guard; not combinable.
 */
export type AccessRule =
  | { scope: string; intake?: boolean }
  | { anyScope: readonly string[]; intake?: boolean }
  | { anyToken: true }
  | { sharedKey: true }
  | { session: 'admin' | 'member' }
  | { basic: BasicGuard };
export type Access = 'public' | AccessRule | readonly AccessRule[];
