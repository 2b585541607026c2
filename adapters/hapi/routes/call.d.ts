/** What is used of hapi's router, which comes without types. */
declare module '@hapi/call' {
  import type { Boom } from '@hapi/boom';

  export class Router<Route> {
    /** By methods in lower case. */
    readonly routes: ReadonlyMap<string, { routes: unknown[] }>;
    /** @throws when the path is taken, or no path */
    add(call: { method: string; path: string }, route: Route): unknown;
    /** @returns an error: a part of the path cannot be decoded, or there is no such route */
    route(method: string, path: string): { route: Route; params: Record<string, string> } | Boom;
  }
}
