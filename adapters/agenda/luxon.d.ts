declare module 'luxon' {
  export const Settings: { defaultLocale: string };
}
