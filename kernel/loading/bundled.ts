/**
 * What the bundle of the program has of the modules that plugins from outside may import. The build writes this module
 * anew for the bundle (scripts/bundle.mjs). File by file there is nothing to say: Node has one copy of each file.
 */

/** By the name of a module's file below `dist/`: the module, which is run when it is first asked for. */
export type BundledModules = Readonly<Record<string, () => object>>;

/** Null outside of the bundle. */
export const bundled: BundledModules | null = null;
