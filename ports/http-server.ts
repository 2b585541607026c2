import type { LiveTokenDetector } from './domain/live-tokens.js';
import type { StorageSpace } from './domain/health.js';
import type {
  Authenticator,
  ErrorCodes,
  FormResultStore,
  MountedHosts,
  MountedPage,
  MountedPanel,
  MountedRoute,
  ProjectChoices,
} from './http.js';
import type { RouteTools } from './tools.js';

/** HTTP server; mount first, then start. */
export interface HttpServer {
  /**
   * Finds faults in views, icons and forms, each a sentence with location and fix.
   * @param parts of every plugin
   * @param plugins ids to check
   */
  findFaults(
    parts: { pages: readonly MountedPage[]; panels: readonly MountedPanel[] },
    plugins: ReadonlySet<string>,
  ): { plugin: string; fault: string }[];
  mount(parts: {
    routes: readonly MountedRoute[];
    pages: readonly MountedPage[];
    panels: readonly MountedPanel[];
    /** Absent: every host shows all pages. */
    hosts?: readonly MountedHosts[];
    /** Error codes with status and meaning; other codes are faults. Absent: any code. */
    codes?: ErrorCodes;
    /**
     * Paths of plugins that do not run: they answer 503, and all below them. Called once the rest
     * is mounted.
     */
    unavailable?: () => readonly string[];
    /**
     * Called when a plugin's part cannot be mounted; the others are mounted. Absent: mounting
     * fails.
     */
    failed?: (plugin: string, error: unknown) => void;
    authenticator: Authenticator;
    /** Absent: repeated forms run again, and results appear directly in the response. */
    forms?: FormResultStore | null;
    /** Absent: no project selection. */
    projects?: ProjectChoices | null;
    /** Checked by routes with `limits.space`. Absent: free space is not checked. */
    space?: StorageSpace | null;
    /** Checks texts from users and agents. Absent: no text is rejected. */
    liveTokens?: LiveTokenDetector | null;
  }): Promise<void>;
  /** Starts listening and returns the URL: `http://127.0.0.1:8080`. */
  start(): Promise<string>;
  /** Stops listening, gives requests `timeoutMs` to finish, then closes. */
  stop(timeoutMs: number): Promise<void>;
  /** Returns OpenAPI 3.1 of the mounted routes. */
  getOpenApi(): Promise<object>;
  /** Returns the mounted routes that are tools. */
  getTools(): RouteTools;
}
