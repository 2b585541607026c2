/** Custom hosts that serve one shared page only. */

export interface CustomHosts {
  /**
   * Called per request.
   * @param host lower case, without the port
   * @returns path served at `/`: `/status-page/shop`; null: unknown host
   */
  findPage(host: string): string | null | Promise<string | null>;
}
