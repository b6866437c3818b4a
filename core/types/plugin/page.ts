// The type of a plugin's own page in the dashboard: files of the plugin, in a frame that can reach nothing but the plugin's routes.

export interface PluginPage {
  /** Unique within the plugin: `board`. */
  readonly id: string
  readonly title: string
  /**
   * A folder with `index.html`: `new URL('./page/', import.meta.url)`. Scripts and styles are files beside it, because inline ones do
   * not run; scripts are no modules. Anyone who reaches the gateway can read the files.
   */
  readonly folder: URL | string
  /** Control-plane routes of the same plugin that the page may call, registered before it: `GET /api/house-rules`. */
  readonly routes: readonly string[]
}
