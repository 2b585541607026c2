const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]|{}]/g, String.raw`\$&`);

const pathPattern = (route: string): RegExp =>
  new RegExp(
    `^${route
      .split(/\{\w+\}/)
      .map(literal)
      .join('([^/]+)')}$`,
  );

export class OwnHostPaths {
  readonly #paths: { plugin: string; pattern: RegExp }[] = [];

  add(plugin: string, route: string): void {
    this.#paths.push({ plugin, pattern: pathPattern(route) });
  }

  has(plugin: string, path: string): boolean {
    return this.#paths.some((one) => one.plugin === plugin && one.pattern.test(path));
  }
}
