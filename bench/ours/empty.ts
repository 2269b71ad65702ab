/** The case size: a program that does nothing. Whatever it has, each program on this runtime has. */
export {};
