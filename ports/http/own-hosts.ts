/** Names of hosts that show one shared page and nothing else of the service. */

export interface OwnHosts {
  /**
   * Asked for every request whose `Host` is a name other than that of `server.base_url`.
   * @param host lower case, without the port
   * @returns the path of the page that the host shows at `/`, with the plugin's other pages below it that are shared or
   *   `onOwnHosts`: `/status-page/shop`; null: the host is none of these
   */
  find(host: string): string | null | Promise<string | null>;
}
