/** Custom hosts that serve one shared page only. */

export interface CustomHosts {
  /**
   * Finds the page of a `Host` other than that of `server.base_url`, per request.
   * @param host lower case, without the port
   * @returns path served at `/`, with its plugin's shared or `onOwnHosts` pages below:
   *   `/status-page/shop`; null: unknown host
   */
  findPage(host: string): string | null | Promise<string | null>;
}
