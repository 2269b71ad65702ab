package greeting;

import io.javaoperatorsdk.operator.Operator;

/** The operator as a program, as it runs in a Pod. */
public class GreetingOperator {

  public static void main(String[] arguments) {
    var operator = new Operator();
    operator.register(new GreetingReconciler());
    operator.start();
  }
}
