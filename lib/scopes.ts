/** A `…:manage` scope implies its `…:read` (contract 10, tokens: "Scopes"). */
export const grants = (held: readonly string[], scope: string): boolean =>
  held.includes(scope) || (scope.endsWith(':read') && held.includes(scope.replace(/:read$/, ':manage')));
