/** The Redis store on real servers that are killed, frozen, cut off and flooded. */
package dev.latchkey.redis;
