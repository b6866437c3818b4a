// Types of data-plane routes.

/** Which client-key restrictions apply to a route. `model`: allow-list and rate limits; `rate`: rate limits only; `none`: neither. */
export type KeyScope = 'model' | 'rate' | 'none'

/** Virtual models that a route accepts: for text, for images, none (`concrete`), or the route takes no model (`none`). */
export type ModelKind = 'text' | 'image' | 'concrete' | 'none'
