/** The server that the kernel mounts everything on (ports/http.ts has what is mounted). */
import type { LiveTokens } from './domain/live-tokens.js';
import type { StorageSpace } from './domain/health.js';
import type {
  Authenticator,
  ErrorCodes,
  FormMemory,
  MountedHosts,
  MountedPage,
  MountedPanel,
  MountedRoute,
  ProjectChoices,
} from './http.js';
import type { RouteTools } from './tools.js';

/** The web server. Mount first, then start. */
export interface HttpServer {
  /**
   * What is wrong with the views, icons and forms of some plugins: each fault in one sentence, with its place and mend.
   * @param parts of every plugin
   * @param plugins ids of those that are judged
   */
  faults(
    parts: { pages: readonly MountedPage[]; panels: readonly MountedPanel[] },
    plugins: ReadonlySet<string>,
  ): { plugin: string; fault: string }[];
  mount(parts: {
    routes: readonly MountedRoute[];
    pages: readonly MountedPage[];
    panels: readonly MountedPanel[];
    /** Absent: every host shows all. */
    hosts?: readonly MountedHosts[];
    /**
     * Every error code with its status and meaning: another one, or with another status, is a fault. Absent: any is
     * taken.
     */
    codes?: ErrorCodes;
    /** Paths of plugins that do not run: they answer 503, and all below them. Called once the rest is mounted. */
    unavailable?: () => readonly string[];
    /** Called with a plugin whose part cannot be mounted; the others are. Absent: the mount fails. */
    failed?: (plugin: string, error: unknown) => void;
    authenticator: Authenticator;
    /** Absent: forms are carried out each time they are sent, and what they make is shown in their answer. */
    forms?: FormMemory | null;
    /** Absent: nobody can choose a project in the bar. */
    projects?: ProjectChoices | null;
    /** Asked by routes with `limits.space`; absent: free space is not watched. */
    space?: StorageSpace | null;
    /** Asked about every text that people and agents write; absent: nothing is refused for what it would publish. */
    liveTokens?: LiveTokens | null;
  }): Promise<void>;
  /** Listens; answers the address it listens on, `http://127.0.0.1:8080`. */
  start(): Promise<string>;
  /** Stops listening at once, lets requests finish for `timeoutMs`, then closes. */
  stop(timeoutMs: number): Promise<void>;
  /** OpenAPI 3.1 of the mounted routes. */
  openapi(): Promise<object>;
  /** The mounted routes that are tools. */
  tools(): RouteTools;
}
