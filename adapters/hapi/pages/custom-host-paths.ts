const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]|{}]/g, String.raw`\$&`);

const toPathPattern = (route: string): RegExp =>
  new RegExp(
    `^${route
      .split(/\{\w+\}/)
      .map(escapePattern)
      .join('([^/]+)')}$`,
  );

export class CustomHostPaths {
  readonly #paths: { plugin: string; pattern: RegExp }[] = [];

  add(plugin: string, route: string): void {
    this.#paths.push({ plugin, pattern: toPathPattern(route) });
  }

  has(plugin: string, path: string): boolean {
    return this.#paths.some((one) => one.plugin === plugin && one.pattern.test(path));
  }
}
