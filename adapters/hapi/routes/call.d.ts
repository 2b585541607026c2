declare module '@hapi/call' {
  import type { Boom } from '@hapi/boom';

  export class Router<Route> {
    readonly routes: ReadonlyMap<string, { routes: unknown[] }>;
    /** @throws when the path is taken or invalid */
    add(call: { method: string; path: string }, route: Route): unknown;
    /** @returns an error for an undecodable path or a missing route */
    route(method: string, path: string): { route: Route; params: Record<string, string> } | Boom;
  }
}
