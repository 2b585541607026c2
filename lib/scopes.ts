/**
 * Returns whether `held` includes the scope; `…:manage` implies `…:read` (contract 10, tokens:
 * "Scopes").
 */
export const hasScope = (held: readonly string[], scope: string): boolean =>
  held.includes(scope) || (scope.endsWith(':read') && held.includes(scope.replace(/:read$/, ':manage')));
