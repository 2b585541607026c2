/** Returns a path of this service, undefined for anything else (`//x`, `/\\x`). */
export const toLocalPath = (given: string | undefined): string | undefined =>
  given !== undefined && given.length <= 8000 && /^\/(?![/\\])[^\s\\]*$/.test(given) ? given : undefined;
