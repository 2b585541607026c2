/** Who may call a route or open a page. */
import type { BasicGuard } from './basic.js';

/**
 * Who may call. Several forms may be combined in an array: any of them opens the route.
 *  - `'public'`: no credential is asked for, and one that comes is ignored (contract 00, envelope);
 *  - `{scope}`, `{anyScope}`: a token that has it (a `…:manage` scope implies its `…:read`); setup tokens only by
 * `setup:install`;
 *  - `{intake: true}`: beside a scope, a project's public intake key too;
 *  - `{anyToken: true}`: every kind of token but setup tokens and intake keys;
 *  - `{sharedKey: true}`: the shared key (contract 10, shared key);
 *  - `{session: role}`: a signed-in account; `member` admits administrators too. Pages, and routes below `/api/admin/`;
 *  - `{basic: guard}`: HTTP Basic, which the guard judges. It stands alone.
 */
export type AccessRule =
  | { scope: string; intake?: boolean }
  | { anyScope: readonly string[]; intake?: boolean }
  | { anyToken: true }
  | { sharedKey: true }
  | { session: 'admin' | 'member' }
  | { basic: BasicGuard };
export type Access = 'public' | AccessRule | readonly AccessRule[];
