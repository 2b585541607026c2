/** Which paths of a plugin a host of its own serves, below the page that it shows. */

/** A text as an expression that matches only this text. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]|{}]/g, String.raw`\$&`);

/** Matches the paths of a route whose parameters are whole segments. */
const pathPattern = (route: string): RegExp =>
  new RegExp(
    `^${route
      .split(/\{\w+\}/)
      .map(literal)
      .join('([^/]+)')}$`,
  );

export class OwnHostPaths {
  readonly #paths: { plugin: string; pattern: RegExp }[] = [];

  /** @param route as the plugin wrote it */
  add(plugin: string, route: string): void {
    this.#paths.push({ plugin, pattern: pathPattern(route) });
  }

  has(plugin: string, path: string): boolean {
    return this.#paths.some((one) => one.plugin === plugin && one.pattern.test(path));
  }
}
